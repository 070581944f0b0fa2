import {
  type Abi,
  createWalletClient,
  getAddress,
  type Hex,
  keccak256,
  parseAbi,
  parseEther,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Artifact, Artifacts } from "./compile.ts";
import { minedOn, nodeTransport, rpc } from "./node-rpc.ts";

/** Deterministic deployer that anvil and public networks share; its salt gives Permit2 its canonical address. */
const CREATE2_DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
const PERMIT2_SALT = "0x0000000000000000000000000000000000000000d3af2663da51c10215000000";
/** Published hash of Permit2's creation code and the address it must have everywhere. */
const PERMIT2_INIT_HASH = "0xe2be1e05eedf35dacd66c65c862f8150ff9ab4b6b24b9bbe62be71b6b16cf0f8";
export const PERMIT2_ADDRESS = "0x000000000022D473030F116dDEE9F6B43aC78BA3";

const GWEI_BALANCE = `0x${parseEther("1000").toString(16)}` as const;

/** Starting prices in USD, scaled by 10^8. */
const FEEDS = {
  "USDC / USD": 100_000_000n,
  "USDT / USD": 100_010_000n,
  "ETH / USD": 250_000_000_000n,
  "EUR / USD": 108_000_000n,
  "GBP / USD": 127_000_000n,
  "JPY / USD": 665_000n,
  "KWD / USD": 325_000_000n,
} as const;

export type FeedName = keyof typeof FEEDS;

/** What one local chain holds; addresses are as deployed, keys belong to this world alone. */
export type Deployment = {
  chainId: number;
  /** Key that owns tokens, feeds and the oracle. */
  ownerKey: Hex;
  usdc: Hex;
  usdt: Hex;
  permit2: Hex;
  sanctions: Hex;
  feeds: Record<FeedName, Hex>;
};

/** Gives an account gas money. */
export const fundGas = (url: string, address: string) =>
  rpc(url, "anvil_setBalance", [address, GWEI_BALANCE]);

/**
 * Deploys tokens, Permit2, feeds and the sanctions oracle on a fresh chain. Blocks are made on demand meanwhile, so that it takes
 * a second and not one per contract. `interval` is the block time that follows; 0 leaves mining to the caller.
 */
export async function deployWorld(
  rpcUrl: string,
  chainId: number,
  artifacts: Artifacts,
  interval: number,
): Promise<Deployment> {
  const ownerKey = generatePrivateKey();
  const account = privateKeyToAccount(ownerKey);
  const chain = {
    id: chainId,
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  };
  const wallet = createWalletClient({ account, chain, transport: nodeTransport(rpcUrl) });
  await fundGas(rpcUrl, account.address);
  await rpc(rpcUrl, "evm_setIntervalMining", [0]);
  await rpc(rpcUrl, "evm_setAutomine", [true]);
  const deploy = async ({ abi, bytecode }: Artifact, args: unknown[]): Promise<Hex> => {
    const hash = await wallet.deployContract({ abi: abi as Abi, bytecode, args });
    const { contractAddress } = await minedOn(rpcUrl, hash);
    if (contractAddress === null) throw new Error("a sandbox contract was not deployed");
    return getAddress(contractAddress);
  };
  if (keccak256(artifacts.Permit2.bytecode) !== PERMIT2_INIT_HASH)
    throw new Error("the compiled Permit2 is not the published one");
  const permit2 = await wallet.sendTransaction({
    to: CREATE2_DEPLOYER,
    data: `${PERMIT2_SALT}${artifacts.Permit2.bytecode.slice(2)}`,
  });
  await minedOn(rpcUrl, permit2);
  if ((await rpc(rpcUrl, "eth_getCode", [PERMIT2_ADDRESS, "latest"])) === "0x")
    throw new Error("Permit2 is not at its canonical address");
  const usdc = await deploy(artifacts.SandboxUsd, ["USD Coin", "USDC"]);
  const usdt = await deploy(artifacts.SandboxTether, ["Tether USD", "USDT"]);
  const sanctions = await deploy(artifacts.SandboxSanctions, []);
  const feeds = {} as Record<FeedName, Hex>;
  for (const [name, answer] of Object.entries(FEEDS))
    feeds[name as FeedName] = await deploy(artifacts.SandboxFeed, [name, answer]);
  if (interval > 0) {
    await rpc(rpcUrl, "evm_setAutomine", [false]);
    await rpc(rpcUrl, "evm_setIntervalMining", [interval]);
  }
  return { chainId, ownerKey, usdc, usdt, permit2: PERMIT2_ADDRESS, sanctions, feeds };
}

/** Mints token units to an account with the owner's key; returns the transaction hash. */
export async function mint(
  rpcUrl: string,
  deployment: Deployment,
  token: "usdc" | "usdt",
  to: string,
  amount: bigint,
): Promise<Hex> {
  return asOwner(
    rpcUrl,
    deployment,
    deployment[token],
    "function mint(address to, uint256 value)",
    [to, amount],
  );
}

/** Calls a function of a sandbox contract with the owner's key; returns the transaction hash once it is mined. */
export async function asOwner(
  rpcUrl: string,
  deployment: Deployment,
  to: Hex,
  signature: string,
  args: unknown[],
): Promise<Hex> {
  const account = privateKeyToAccount(deployment.ownerKey);
  const chain = {
    id: deployment.chainId,
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  };
  const wallet = createWalletClient({ account, chain, transport: nodeTransport(rpcUrl) });
  const abi = parseAbi([signature] as readonly string[]) as Abi;
  const functionName = /function (\w+)/.exec(signature)?.[1] ?? "";
  const hash = await wallet.writeContract({ address: to, abi, functionName, args });
  await minedOn(rpcUrl, hash);
  return hash;
}
