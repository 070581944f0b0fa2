import { encodeFunctionData, type Hex, keccak256, numberToHex, parseAbi, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Ground, type Plant, rows } from "./plants.ts";

const TOKEN = parseAbi([
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
]);
const SOMEBODY = "0x1111111111111111111111111111111111111111";
const MONEY = "0x56bc75e2d63100000";

/** Makes blocks until what was sent is final. */
const finalize = async ({ node }: Ground): Promise<void> => {
  await node("anvil_mine", ["0x5"]);
};

/** Sends as an account whose key the sender need not have. */
async function sendAs(ground: Ground, from: Hex, tx: { to: Hex; data?: Hex }): Promise<void> {
  await ground.node("anvil_setBalance", [from, MONEY]);
  await ground.node("anvil_impersonateAccount", [from]);
  await ground.node("eth_sendTransaction", [{ from, ...tx, gas: "0x493e0" }]);
  await finalize(ground);
}

/** Pretends that the service has read everything there is, and missed it. */
async function pretendRead({ sql, node, chain }: Ground): Promise<void> {
  const head = BigInt(String(await node("eth_blockNumber", [])));
  await sql(
    `update chain_cursor set scanned_number = $2, latest_number = $2, safe_number = $2, finalized_number = $2 where chain = $1`,
    [chain, head.toString()],
  );
}

async function ownerOf({ node, usdc }: Ground): Promise<Hex> {
  const owner = String(await node("eth_call", [{ to: usdc, data: "0x8da5cb5b" }, "latest"]));
  return `0x${owner.slice(-40)}`;
}

const transferTo = (to: Hex, value: bigint): Hex =>
  encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [to, value] });

/** Money for the intermediary that no offer asked for. */
async function mintUnseen(ground: Ground): Promise<void> {
  const args = [ground.intermediary, 77n] as const;
  const data = encodeFunctionData({ abi: TOKEN, functionName: "mint", args });
  await sendAs(ground, await ownerOf(ground), { to: ground.usdc, data });
}

async function aRelayer({ sql, chain, intermediary }: Ground): Promise<Hex> {
  const [row] = await sql(
    `select signer from signer_nonce where chain = $1 and signer <> $2 order by signer limit 1`,
    [chain, intermediary],
  );
  return row?.signer as Hex;
}

/** Stores another transaction beside the newest settlement's; it is signed like any other, by a key of nobody. */
async function storeBeside(
  { sql }: Ground,
  role: "main" | "fill",
  change: { to?: Hex; value?: bigint; data?: Hex; nonce?: number },
): Promise<void> {
  const [intent] = await sql(
    `select id, chain, signer, nonce, plan from chain_intent where kind = 'settlement' order by created_at limit 1`,
  );
  const account = privateKeyToAccount(generatePrivateKey());
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId: Number(intent?.chain?.slice("eip155:".length)),
    nonce: change.nonce ?? Number(intent?.nonce),
    to: change.to ?? (intent?.signer as Hex),
    value: change.value ?? 0n,
    data: change.data ?? "0x",
    gas: 21_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  });
  await sql(
    `insert into chain_tx (hash, chain, intent_id, role, raw, max_fee, max_priority_fee, gas, created_at)
     values ($1, $2, $3, $4, $5, 1, 1, 21000, now())`,
    [keccak256(raw), intent?.chain, intent?.id, role, Buffer.from(raw.slice(2), "hex")],
  );
}

/** The end of a transaction that nobody recorded for longer than it may take. */
async function leaveOpen(ground: Ground, state: string): Promise<void> {
  await ground.sql(
    `update chain_intent set state = $2, created_at = now() - interval '1 hour'
     where chain = $1 and kind = 'settlement' and state = 'final'`,
    [ground.chain, state],
  );
  await ground.node("evm_increaseTime", [1_000]);
  await finalize(ground);
}

/** Violations that need a chain, or bytes of a transaction. */
export const CHAIN_PLANTS: Plant[] = [
  {
    of: "I10",
    planted: "a capture whose block a deep reorganisation removed",
    endsTheWorld: true,
    async plant(ground) {
      const [row] = await ground.sql(
        `select min(block_number) as number from capture where chain = $1`,
        [ground.chain],
      );
      const head = BigInt(String(await ground.node("eth_blockNumber", [])));
      await ground.node("anvil_reorg", [Number(head - BigInt(row?.number ?? 0)) + 1, []]);
      await finalize(ground);
    },
  },
  {
    of: "I11",
    planted: "an arrival that the scan missed",
    async plant(ground) {
      await mintUnseen(ground);
      await pretendRead(ground);
    },
  },
  {
    of: "I11",
    planted: "an arrival that was read and left lying",
    async plant(ground) {
      await ground.sql(
        `update movement set state = 'seen' where tx_hash in (select tx_ref from exception_record where kind = 'short')`,
      );
      await ground.sql(`delete from exception_record where kind = 'short'`);
      await ground.node("evm_increaseTime", [1_000]);
      await finalize(ground);
    },
  },
  {
    of: "I11",
    planted: "an arrival since the scan stopped",
    async plant(ground) {
      await mintUnseen(ground);
      await ground.node("evm_increaseTime", [1_000]);
      await finalize(ground);
    },
  },
  {
    of: "I35",
    planted: "a transaction that is final and still called sent",
    plant: (ground) => leaveOpen(ground, "broadcast"),
  },
  {
    of: "I35",
    planted: "a transaction that is final and still called mined",
    plant: (ground) => leaveOpen(ground, "mined"),
  },
  {
    of: "I14",
    planted: "money that vanished without a transfer",
    async plant(ground) {
      const { node, usdc, intermediary } = ground;
      const data = encodeFunctionData({
        abi: TOKEN,
        functionName: "balanceOf",
        args: [intermediary],
      });
      const held = BigInt(String(await node("eth_call", [{ to: usdc, data }, "latest"])));
      await node("anvil_dealERC20", [intermediary, usdc, numberToHex(held - 1n)]);
      await finalize(ground);
    },
  },
  {
    of: "I14",
    planted: "money that somebody sent away",
    async plant(ground) {
      await sendAs(ground, ground.intermediary, {
        to: ground.usdc,
        data: transferTo(SOMEBODY, 3n),
      });
      await pretendRead(ground);
    },
  },
  {
    of: "I22",
    planted: "a replacement that pays somebody else",
    plant: (ground) =>
      storeBeside(ground, "main", { to: ground.usdc, data: transferTo(SOMEBODY, 1n) }),
  },
  {
    of: "I22",
    planted: "a fill that moves money",
    plant: (ground) => storeBeside(ground, "fill", { value: 1n }),
  },
  {
    of: "I22",
    planted: "a fill to somebody else",
    plant: (ground) => storeBeside(ground, "fill", { to: SOMEBODY }),
  },
  {
    of: "I22",
    planted: "a replacement with another nonce",
    plant: (ground) => storeBeside(ground, "fill", { nonce: 4_711 }),
  },
  {
    of: "I22",
    planted: "stored bytes that are not the transaction of their hash",
    async plant({ sql }) {
      await sql(
        `update chain_tx set hash = $1 where role = 'main' and hash = (select min(hash) from chain_tx)`,
        [keccak256(toHex("planted"))],
      );
    },
  },
  {
    of: "I24",
    planted: "a token transfer that nobody ordered",
    plant: (ground) =>
      sendAs(ground, ground.intermediary, { to: ground.usdc, data: transferTo(SOMEBODY, 3n) }),
  },
  {
    of: "I24",
    planted: "a transaction of a relayer that nobody ordered, at a nonce that was given out",
    async plant(ground) {
      const relayer = await aRelayer(ground);
      await ground.sql(
        `select reserve_intent('planted', 'fill', null, null, $1, $2, '{"kind":"fill"}')`,
        [ground.chain, relayer],
      );
      await sendAs(ground, relayer, { to: SOMEBODY });
    },
  },
  {
    of: "I25",
    planted: "a key that sent more than was given out",
    async plant(ground) {
      await sendAs(ground, await aRelayer(ground), { to: SOMEBODY });
    },
  },
  {
    of: "I28",
    planted: "a transfer that was final a quarter of an hour ago and is not recorded",
    async plant(ground) {
      await ground.sql(`update settlement set state = 'sent', tx_ref = null`);
      await ground.node("evm_increaseTime", [1_000]);
      await finalize(ground);
    },
  },
  rows(
    "I39",
    "gas recorded and posted as less than the chain took",
    `update chain_intent set gas_cost = gas_cost - 1 where kind = 'settlement'`,
    `update ledger_entry e set amount = e.amount - sign(e.amount) from ledger_tx t
     where t.id = e.tx_id and t.reason = 'gas' and t.subject like 'settle:%'`,
  ),
];
