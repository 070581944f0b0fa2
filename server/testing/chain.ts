import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Abi, createWalletClient, type Hex, keccak256 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createEvmChain, type EvmChain } from "#server/chains/evm/chain.ts";
import { createRpc, type Rpc } from "#server/chains/evm/rpc.ts";
import type { Authorization } from "#server/domain/option/authorization.ts";
import type { ChainConfig } from "#server/platform/env.ts";
import { createLog, type Log } from "#server/platform/log.ts";
import type { ChainEntry, TokenEntry } from "#server/platform/registry.ts";
import type { Offer } from "#server/ports/chain.ts";
import { startAnvil } from "#server/sandbox/anvil.ts";
import { type Artifact, compileContracts } from "#server/sandbox/compile.ts";
import { type Deployment, deployWorld, fundGas } from "#server/sandbox/deploy.ts";
import { minedOn, nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { worldRegistry } from "#server/sandbox/world-registry.ts";

const require = createRequire(import.meta.url);

/** Contracts that behave as no sandbox token does. */
export type OddContract =
  | "Caller"
  | "PlainDelegate"
  | "BackwardToken"
  | "FalseToken"
  | "VyperLikeToken"
  | "NamespacedToken"
  | "HiddenToken"
  | "SimulationOnlyWallet";

/** A buyer, a merchant or one of our own keys. */
export type Actor = { key: Hex; address: Hex };

/** One local chain with its contracts and our adapter over it; blocks are made with every transaction. */
export type TestChain = {
  rpcUrl: string;
  deployment: Deployment;
  config: ChainConfig;
  rpc: Rpc;
  log: Log;
  chain: EvmChain;
  intermediary: Actor;
  relayer: Actor;
  spender: Actor;
  actor(): Promise<Actor>;
  /** The adapter over a changed registry entry. */
  adapt(change: (entry: ChainEntry) => ChainEntry): EvmChain;
  deploy(artifact: Artifact, args?: unknown[]): Promise<Hex>;
  odd(name: OddContract): { artifact: Artifact; deploy(): Promise<Hex> };
  /** Sends from an account and waits for the block. */
  send(from: Actor, tx: { to: Hex; data?: Hex; value?: bigint }): Promise<Hex>;
  node<T>(method: string, params?: unknown[]): Promise<T>;
  stop(): Promise<void>;
};

const newActor = (): Actor => {
  const key = generatePrivateKey();
  return { key, address: privateKeyToAccount(key).address.toLowerCase() as Hex };
};

type Compiled = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
};

/** Compiled once per process, on first use. */
let oddArtifacts: Record<string, Artifact> | undefined;

/** A contract of `odd-contracts.sol`, compiled. */
export function compileOdd(name: OddContract): Artifact {
  if (oddArtifacts === undefined) {
    const content = readFileSync(new URL("./odd-contracts.sol", import.meta.url), "utf8");
    const settings = { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } };
    const input = { language: "Solidity", sources: { odd: { content } }, settings };
    const output: Compiled = JSON.parse(require("solc").compile(JSON.stringify(input)));
    const failed = (output.errors ?? []).filter(({ severity }) => severity === "error");
    if (failed.length > 0) throw new Error(failed.map((e) => e.formattedMessage).join("\n"));
    oddArtifacts = Object.fromEntries(
      Object.entries(output.contracts.odd ?? {}).map(([key, { abi, evm }]) => [
        key,
        { abi, bytecode: `0x${evm.bytecode.object}` as const },
      ]),
    );
  }
  const artifact = oddArtifacts[name];
  if (artifact === undefined) throw new Error(`no contract ${name}`);
  return artifact;
}

/** An offer that asks for a signature; anything else fails the test. */
export function signatureOffer(offer: Offer | null): Offer & { authorization: Authorization } {
  if (offer === null) throw new Error("no offer");
  const { authorization } = offer;
  if (!("domain" in authorization)) throw new Error("nothing to sign");
  return { ...offer, authorization };
}

/** What a wallet answers to the last action of an offer. */
export async function signOffer(offer: Offer, key: Hex): Promise<Hex> {
  const action = offer.actions.at(-1);
  if (action?.data.method !== "eth_signTypedData_v4") throw new Error("nothing to sign");
  const { EIP712Domain: _, ...types } = JSON.parse(String(action.data.params[1])).types;
  const typed = JSON.parse(String(action.data.params[1]));
  return privateKeyToAccount(key).signTypedData({ ...typed, types });
}

/** Starts a chain of its own for a test file. */
export async function startTestChain(chainId = 91_001): Promise<TestChain> {
  const anvil = await startAnvil({ chainId, noMining: true });
  const { rpcUrl } = anvil;
  const node = <T>(method: string, params: unknown[] = []) => rpc<T>(rpcUrl, method, params);
  const artifacts = compileContracts();
  const deployment = await deployWorld(rpcUrl, chainId, artifacts, 0);
  const [entry] = worldRegistry([{ deployment, name: "Test" }]).chains;
  if (entry === undefined) throw new Error("no chain entry");
  const [relayer, spender, intermediary, deployer] = [
    newActor(),
    newActor(),
    newActor(),
    newActor(),
  ];
  for (const { address } of [relayer, spender, intermediary, deployer])
    await fundGas(rpcUrl, address);
  const config: ChainConfig = {
    entry,
    rpcUrls: [rpcUrl],
    relayerKeys: [relayer.key],
    permit2SpenderKey: spender.key,
    faucetKey: null,
  };
  const log = createLog("silent");
  const ours = createRpc([rpcUrl], chainId);
  const adapt: TestChain["adapt"] = (change) =>
    createEvmChain({ ...config, entry: change(entry) }, ours, intermediary.key, log);
  const chain = {
    id: chainId,
    name: "test",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  };
  const walletOf = ({ key }: Actor) =>
    createWalletClient({
      account: privateKeyToAccount(key),
      chain,
      transport: nodeTransport(rpcUrl),
    });
  const deploy: TestChain["deploy"] = async ({ abi, bytecode }, args = []) => {
    const hash = await walletOf(deployer).deployContract({ abi: abi as Abi, bytecode, args });
    const { contractAddress } = await minedOn(rpcUrl, hash);
    if (contractAddress === null) throw new Error("not deployed");
    return contractAddress.toLowerCase() as Hex;
  };
  return {
    rpcUrl,
    deployment,
    config,
    rpc: ours,
    log,
    chain: adapt((same) => same),
    intermediary,
    relayer,
    spender,
    async actor() {
      const actor = newActor();
      await fundGas(rpcUrl, actor.address);
      return actor;
    },
    adapt,
    deploy,
    odd: (name) => ({ artifact: compileOdd(name), deploy: () => deploy(compileOdd(name)) }),
    async send(from, tx) {
      const hash = await walletOf(from).sendTransaction(tx);
      await minedOn(rpcUrl, hash);
      return hash;
    },
    node,
    stop: () => anvil.stop(),
  };
}

/** A token entry like the sandbox's dollars, at another address. */
export const tokenAt = (address: string, change: Partial<TokenEntry> = {}): TokenEntry => ({
  symbol: "ODD",
  name: "Odd token",
  address,
  decimals: 6,
  peg: null,
  depegBps: 100,
  feed: null,
  eip3009: null,
  approveZeroFirst: false,
  iconUrl: null,
  ...change,
});

/** A nonce of its own, as a payment has one. */
export const nonceOf = (text: string): Hex => keccak256(new TextEncoder().encode(text));
