import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { tokenAccountOf } from "#server/chains/solana/assets.ts";
import { compileTransfer, encodeWire } from "#server/chains/solana/message.ts";
import { signWith, solanaAddress } from "#server/sandbox/solana-world.ts";
import type { SolanaBuyer, solanaShop } from "./solana.ts";

/** Sends money of a buyer's own accord, with the buyer's own lamports as fee; returns the transaction's id. */
export async function sendOwn(
  shop: ReturnType<typeof solanaShop>,
  buyer: SolanaBuyer,
  transfer: { amount: bigint; native?: boolean; reference?: string; to?: string },
): Promise<string> {
  const { memory } = shop.chain();
  const to = transfer.to ?? solanaAddress(memory.intermediaryKey);
  const { mint } = memory;
  const [source, target] = await Promise.all([
    tokenAccountOf(buyer.address, mint, TOKEN_PROGRAM_ADDRESS),
    tokenAccountOf(to, mint, TOKEN_PROGRAM_ADDRESS),
  ]);
  const { value } = await shop.rpc<{ value: { blockhash: string } }>("getLatestBlockhash");
  const message = compileTransfer(
    {
      feePayer: buyer.address,
      from: buyer.address,
      to,
      amount: transfer.amount,
      token:
        transfer.native === true
          ? null
          : {
              mint,
              program: TOKEN_PROGRAM_ADDRESS,
              decimals: 6,
              source,
              target,
              createTarget: false,
            },
      reference: transfer.reference ?? null,
      memo: null,
      memoProgram: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
      microLamportsPerUnit: 0,
    },
    value.blockhash,
  );
  const wire = encodeWire(message, new Map([[buyer.address, signWith(buyer.key, message)]]));
  return shop.rpc<string>("sendTransaction", [wire, { encoding: "base64" }]);
}
