/** Whether accounts may take part. `unavailable` is never a pass in live mode. */
export type Screening = {
  screen(chain: string, address: string): Promise<"clear" | "listed" | "unavailable">;
};
