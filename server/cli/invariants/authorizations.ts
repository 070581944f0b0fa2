import { hashTypedData, type TypedDataDefinition } from "viem";
import { paymentTag, type TransferTerms } from "#server/domain/option/authorization.ts";
import { type Check, findProblems, sqlCheck } from "./check.ts";
import type { Context } from "./context.ts";
import { type Finding, judge, together } from "./finding.ts";
import { pages } from "./pages.ts";
import { transferProblem } from "./solana.ts";

type OptionRow = {
  id: string;
  payment_id: string;
  chain: string;
  asset: string;
  payer: string;
  recipient: string;
  mechanism: string;
  amount_minor: string;
  auth_nonce: string;
  deadline: string;
  auth_digest: string;
  actions: { data: { method: string; params: unknown[] } }[];
  terms: TransferTerms;
};

const OPTIONS = `select id, payment_id, chain, asset, payer, recipient, mechanism, amount_minor, auth_nonce,
  extract(epoch from auth_deadline)::bigint as deadline, auth_digest, actions, "authorization" as terms from payment_option`;

type TypedData = TypedDataDefinition & { message: Record<string, unknown> };

function typedDataOf({ actions }: OptionRow): TypedData | null {
  const sign = actions.find(({ data }) => data.method === "eth_signTypedData_v4");
  const text = sign?.data.params[1];
  return typeof text === "string" ? (JSON.parse(text) as TypedData) : null;
}

/** What the buyer is asked to sign, in one line, and what the row says it is. */
function termsOf(row: OptionRow, { domain, message }: TypedData): [signed: string, row: string] {
  const nonce = BigInt(row.auth_nonce);
  const chainId = row.chain.slice("eip155:".length);
  const token = row.asset.slice(row.asset.lastIndexOf(":") + 1);
  const line = (parts: unknown[]) => parts.map((part) => String(part).toLowerCase()).join(" ");
  if (row.mechanism === "eip3009")
    return [
      line([
        domain?.chainId,
        domain?.verifyingContract,
        message.from,
        message.to,
        message.value,
        BigInt(String(message.nonce)),
        message.validBefore,
      ]),
      line([chainId, token, row.payer, row.recipient, row.amount_minor, nonce, row.deadline]),
    ];
  const permitted = message.permitted as { token: string; amount: string };
  return [
    line([domain?.chainId, permitted.token, permitted.amount, message.nonce, message.deadline]),
    line([chainId, token, row.amount_minor, nonce, row.deadline]),
  ];
}

/** A transfer that the buyer's wallet sends: its terms are in the call, and its digest is the payment's tag. */
function pushProblem(row: OptionRow, name: string): string | null {
  const [call] = (row.actions.at(-1)?.data.params ?? []) as Record<string, string>[];
  const { from, to, value, data } = call ?? {};
  const sent = [from, to, BigInt(value ?? 0), data].join(" ");
  const stored = [row.payer, row.recipient, row.amount_minor, row.auth_nonce].join(" ");
  if (row.auth_nonce !== paymentTag(row.payment_id) || row.auth_digest !== row.auth_nonce)
    return `${name} carries ${row.auth_nonce}, which is not its payment's tag`;
  return sent === stored ? null : `${name}: handed out is ${sent}, stored is ${stored}`;
}

function optionProblem(row: OptionRow): string | null {
  const name = `option ${row.id} of ${row.payment_id}`;
  if (row.mechanism === "native") return pushProblem(row, name);
  if (row.mechanism === "spl_transfer" || row.mechanism === "sol_transfer")
    return transferProblem(row, name);
  const typed = typedDataOf(row);
  if (typed === null) return `${name} asks for no signature`;
  const digest = hashTypedData(typed);
  if (digest !== row.auth_digest)
    return `${name}: the stored digest is ${row.auth_digest}, its typed data have ${digest}`;
  const [signed, stored] = termsOf(row, typed);
  return signed === stored ? null : `${name}: signed is ${signed}, stored is ${stored}`;
}

async function digests(context: Context): Promise<Finding> {
  const problems: string[] = [];
  let looked = 0;
  for await (const rows of pages<OptionRow>(context.query, OPTIONS)) {
    looked += rows.length;
    problems.push(...rows.map(optionProblem).filter((problem) => problem !== null));
  }
  return judge(problems, `${looked} options`);
}

const TOKEN = `split_part(split_part(o.asset, '/', 2), ':', 2)`;

const NONCE_PROBLEMS = [
  `select format('nonce %s of %s is in offers of %s payments', auth_nonce, payer, count(distinct payment_id))
   from payment_option group by chain, asset, payer, auth_nonce having count(distinct payment_id) > 1`,
  `select format('nonce %s of %s is claimed by %s, but offered by %s', u.nonce, u.payer, u.payment_id, o.payment_id)
   from auth_use u join payment_option o on o.chain = u.chain and o.payer = u.payer and o.auth_nonce = u.nonce
     and ${TOKEN} = u.token where o.payment_id <> u.payment_id`,
  `select format('nonce %s of %s is claimed with digest %s, which %s never offered', u.nonce, u.payer, u.digest, u.payment_id)
   from auth_use u where not exists (select 1 from payment_option o where o.payment_id = u.payment_id
     and o.payer = u.payer and o.auth_nonce = u.nonce and o.auth_digest = u.digest)`,
  `select format('attempt %s of %s holds no claim on its nonce', a.id, a.payment_id)
   from attempt a join payment_option o on o.id = a.option_id where not exists (
     select 1 from auth_use u where u.payment_id = a.payment_id and u.chain = o.chain and u.payer = o.payer
       and u.nonce = o.auth_nonce and u.token = ${TOKEN})`,
];

async function nonces(context: Context): Promise<Finding> {
  const found = await findProblems(context, NONCE_PROBLEMS);
  return found.problems === 0 ? judge([], "") : { outcome: "violated", ...found };
}

/** I17 to I19: what buyers signed. */
export const AUTHORIZATION_CHECKS: Check[] = [
  {
    id: "I17",
    title: "one payment per nonce; digests are those of the stored typed data",
    run: async (context) => together([await digests(context), await nonces(context)]),
  },
  sqlCheck({
    id: "I18",
    title: "at most one live attempt per payment",
    counted: ["live attempts", "select 1 from attempt where state = 'live'"],
    problems: [
      `select format('%s has %s live attempts', payment_id, count(*)) from attempt where state = 'live'
       group by payment_id having count(*) > 1`,
    ],
  }),
  sqlCheck({
    id: "I19",
    title: "no first attempt after expiry",
    counted: ["attempts", "select 1 from attempt"],
    problems: [
      `select format('%s expired at %s, its first attempt came at %s', p.id, p.expires_at, min(a.created_at))
       from payment p join attempt a on a.payment_id = p.id group by p.id having min(a.created_at) > p.expires_at`,
    ],
  }),
];
