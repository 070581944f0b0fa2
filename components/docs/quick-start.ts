/** A piece of the quick start; a test runs each as it stands, in this order. */
export type Sample = {
  id: string;
  title: string;
  /** What it does and what to look at. */
  text: string;
  /** `shell`: in one shell after another. `terminal`: in a shell of its own, until it is stopped. `program`: with Node. */
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
    code: `sandbox() { node -p "JSON.parse(fs.readFileSync((process.env.SANDBOX_DIR || '.sandbox') + '/sandbox.json')).$1"; }
export FLORIN=$(sandbox baseUrl)
export API_KEY=$(sandbox merchant.apiKey)
export MERCHANT_ID=$(sandbox merchant.id)
export WALLET_KEY=$(sandbox gateway.apiKey)`,
  },
  {
    id: "listen",
    title: "Receive webhooks",
    text: "In a third terminal: registers an address on this machine, checks the signature of what arrives and prints it. Leave it open.",
    kind: "terminal",
    code: "npm run listen",
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
    text: "`succeeded` is final: hand over the goods. The listening terminal has printed the same news.",
    kind: "shell",
    code: `curl -sS "$FLORIN/v1/payments/$PAYMENT_ID/status?maxPollMs=20000" \\
  -H "Api-Key: $API_KEY" \\
  -H "Merchant-Id: $MERCHANT_ID"`,
  },
  {
    id: "refund",
    title: "Refund a part",
    text: "5 of the 12.50 go back to the account that paid; `amount` is in the smallest part of the token.",
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
    text: "The typed client repeats calls after outages, under one Idempotency-Key, and throws `FlorinApiError` with the code.",
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
