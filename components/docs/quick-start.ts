/** A piece of the quick start; a test runs each as it stands, in this order. */
export type Sample = {
  id: string;
  title: string;
  /** What it does and what to look at. */
  text: string;
  /** `shell`: in one shell after another. `terminal`: in a shell of its own, until it is stopped. `program`: a file in this folder, run with Node. */
  kind: "shell" | "terminal" | "program";
  code: string;
};

/** From nothing to a paid, reported and refunded payment in a local world. */
export const QUICK_START: readonly Sample[] = [
  {
    id: "start",
    title: "Start a local world",
    text: "Chains with test tokens, a database, the server and two demo merchants. It keeps running; open a second terminal for the rest.",
    kind: "terminal",
    code: "npm start",
  },
  {
    id: "keys",
    title: "Take the demo keys",
    text: "The start wrote them into a file. They are worth nothing anywhere else.",
    kind: "shell",
    code: `sandbox() {
  node -p "JSON.parse(fs.readFileSync('\${SANDBOX_DIR:-.sandbox}/sandbox.json')).$1"
}
export FLORIN=$(sandbox baseUrl)
export API_KEY=$(sandbox merchant.apiKey)
export MERCHANT_ID=$(sandbox merchant.id)
export WALLET_KEY=$(sandbox gateway.apiKey)`,
  },
  {
    id: "listen",
    title: "Have events sent to your machine",
    text: "In a third terminal. It prints a signing secret and then every event it sends on.",
    kind: "terminal",
    code: `npm run listen -- "http://127.0.0.1:\${RECEIVER_PORT:-4000}/"`,
  },
  {
    id: "receive",
    title: "Receive webhooks",
    text: "In a fourth: save this as `receiver.ts` in this folder, export the secret as `WEBHOOK_SECRET`, and run `npx node receiver.ts`.",
    kind: "program",
    code: `import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { verifyWebhook } from "#server/client/merchant/webhook.ts";

const { WEBHOOK_SECRET = "", RECEIVER_PORT = "4000" } = process.env;

createServer(async (request, response) => {
  const body = await text(request);
  try {
    const event = await verifyWebhook(WEBHOOK_SECRET, { headers: request.headers, body });
    console.log("received", event.type, event.data.payment_id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(Number(RECEIVER_PORT), "127.0.0.1");`,
  },
  {
    id: "create",
    title: "Create a payment",
    text: "12.50 USD for an order of yours. The answer holds the `gatewayUrl` a buyer opens, and the payment's id.",
    kind: "shell",
    code: `PAYMENT=$(curl -sS "$FLORIN/v1/payments" \\
  -H "Api-Key: $API_KEY" \\
  -H "Merchant-Id: $MERCHANT_ID" \\
  -H "Idempotency-Key: order-1001" \\
  -H "Content-Type: application/json" \\
  -d '{"amount": {"unit": "iso4217/USD", "value": "1250"}, "referenceId": "order-1001"}')
echo "$PAYMENT"
export PAYMENT_ID=$(node -p "JSON.parse(process.argv[1]).paymentId" "$PAYMENT")`,
  },
  {
    id: "pay",
    title: "Pay it",
    text: "A wallet in the terminal: it lists the options, signs and confirms. It pays no gas.",
    kind: "shell",
    code: 'npm run pay -- "$PAYMENT_ID"',
  },
  {
    id: "status",
    title: "Read the status",
    text: "`succeeded` is final: hand over the goods. The receiver has printed the same news.",
    kind: "shell",
    code: `curl -sS "$FLORIN/v1/payments/$PAYMENT_ID/status?maxPollMs=20000" \\
  -H "Api-Key: $API_KEY" \\
  -H "Merchant-Id: $MERCHANT_ID"`,
  },
  {
    id: "refund",
    title: "Refund a part",
    text: "5 of the 12.50 go back to the account that paid; `amount` is in the smallest part of the token. `pending`: it is on its way. `awaiting_merchant`: the money was settled already, so the merchant's own wallet makes the `transfer`.",
    kind: "shell",
    code: `curl -sS "$FLORIN/v1/refunds" \\
  -H "Api-Key: $API_KEY" \\
  -H "Merchant-Id: $MERCHANT_ID" \\
  -H "Idempotency-Key: order-1001-refund" \\
  -H "Content-Type: application/json" \\
  -d '{"paymentId": "'"$PAYMENT_ID"'", "amount": "5000000", "kind": "execute"}'`,
  },
  {
    id: "program",
    title: "The same from a program",
    text: "Save it as `shop.ts` and run `npx node shop.ts`. The typed client repeats calls after outages, under one Idempotency-Key, and throws `FlorinApiError` with the code.",
    kind: "program",
    code: `import { createMerchantClient } from "#server/client/merchant/client.ts";

const { FLORIN = "", API_KEY = "", MERCHANT_ID = "" } = process.env;
const florin = createMerchantClient({ baseUrl: FLORIN, apiKey: API_KEY, merchantId: MERCHANT_ID });

const { paymentId, gatewayUrl } = await florin.createPayment({
  body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1002" },
});
console.log("Send the buyer to", gatewayUrl);

const { status } = await florin.getPaymentStatus({ id: paymentId });
console.log("It is", status);`,
  },
];
