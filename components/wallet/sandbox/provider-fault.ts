/** An error as EIP-1193 has it: a number that the page understands. */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
