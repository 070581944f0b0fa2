import type { Page } from "@playwright/test";
import { type Hex, verifyTypedData } from "viem";
import type { WalletChain, WalletSession } from "#components/wallet/kit.ts";

/** The network of the tests. */
export const CHAIN = "eip155:31337";

/** A network as the checkout tells a wallet of it; without an RPC address no wallet can add it. */
export const chainOf = (caip2: string, rpcUrl: string | null = null): WalletChain => ({
  caip2,
  name: `Chain ${caip2}`,
  native: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrl,
  explorerUrl: null,
});

/** Something to sign. */
export const typedData = (chainId: number) => ({
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "chainId", type: "uint256" },
    ],
    Payment: [
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
    ],
  },
  domain: { name: "USD Coin", chainId },
  primaryType: "Payment" as const,
  message: { to: "0x00000000000000000000000000000000000000ff" as Hex, value: "12500000" },
});

/** One call as the checkout hands it to a wallet. */
export type Call = Parameters<WalletSession["execute"]>[0];

/** Lets the connected wallet execute one call for an account of CAIP-10. */
export const execute = (page: Page, call: Call, account: string) =>
  page.evaluate(([data, context]) => window.kit.execute(data, context), [
    call,
    { account, index: 0, total: 1 },
  ] as [Call, { account: string; index: 0; total: 1 }]);

/** Asks the connected wallet for a signature over the usual typed data. */
export const signOn = (page: Page, address: string) => {
  const params = [address, JSON.stringify(typedData(31337))];
  const call: Call = { chain_id: CHAIN, method: "eth_signTypedData_v4", params };
  return execute(page, call, `${CHAIN}:${address}`);
};

/** Lets the connected wallet send a value in wei, hex. */
export const sendFrom = (page: Page, from: string, value: string) => {
  const params = [{ from, to: "0x00000000000000000000000000000000000000ff", value, data: "0x" }];
  const call: Call = { chain_id: CHAIN, method: "eth_sendTransaction", params };
  return execute(page, call, `${CHAIN}:${from}`);
};

/** Asks a wallet for its accounts; gives them, or how it failed. */
export const connect = (page: Page, id: string, chains: WalletChain[]) =>
  page.evaluate(([wallet, known]) => window.kit.connect(wallet, known), [id, chains] as const);

/** Whether that is the signature of an address over the usual typed data. */
export const isSigned = (address: Hex, signature: unknown) => {
  const { EIP712Domain: _, ...types } = typedData(31337).types;
  return verifyTypedData({
    ...typedData(31337),
    types,
    message: { ...typedData(31337).message, value: 12_500_000n },
    address,
    signature: signature as Hex,
  });
};
