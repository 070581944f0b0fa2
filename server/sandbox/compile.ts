import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CONTRACTS = fileURLToPath(new URL("./contracts/", import.meta.url));
const CACHE = join(ROOT, ".cache", "contracts");

/** ABI and creation code of one contract; the code is 0x and hex. */
export type Artifact = { abi: readonly unknown[]; bytecode: `0x${string}` };

/** The contracts of the sandbox by name, with Permit2 as its authors published it. */
export type Artifacts = Record<
  "SandboxUsd" | "SandboxTether" | "SandboxFeed" | "SandboxSanctions" | "SandboxWallet" | "Permit2",
  Artifact
>;

type SolcInput = {
  language: "Solidity";
  sources: Record<string, { content: string }>;
  settings: object;
};
type SolcOutput = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<
    string,
    Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>
  >;
};
type Solc = {
  compile(input: string, callbacks?: { import: (path: string) => { contents: string } }): string;
};

const OUTPUT = { "*": { "*": ["abi", "evm.bytecode.object"] } };

function compileWith(solc: Solc, input: SolcInput): SolcOutput["contracts"] {
  const imports = (path: string) => ({ contents: readFileSync(require.resolve(path), "utf8") });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: imports })) as SolcOutput;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join("\n"));
  return output.contracts;
}

function ownInput(): SolcInput {
  const names = readdirSync(CONTRACTS).filter((name) => name.endsWith(".sol"));
  const sources = Object.fromEntries(
    names.map((name) => [name, { content: readFileSync(join(CONTRACTS, name), "utf8") }]),
  );
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: "cancun",
    outputSelection: OUTPUT,
  };
  return { language: "Solidity", sources, settings };
}

/** Every source must be inline and under these names: anything else gives other bytecode than the published one. */
function permit2Input(): SolcInput {
  const base = join(
    dirname(require.resolve("@uniswap/v4-periphery/package.json")),
    "lib",
    "permit2",
  );
  const sources: SolcInput["sources"] = {};
  const add = (path: string) => {
    sources[path] = { content: readFileSync(join(base, path), "utf8") };
  };
  for (const file of readdirSync(join(base, "src"), { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".sol")) add(join("src", file));
  add("lib/solmate/src/tokens/ERC20.sol");
  add("lib/solmate/src/utils/SafeTransferLib.sol");
  return {
    language: "Solidity",
    sources,
    settings: {
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
      metadata: { bytecodeHash: "none" },
      remappings: ["solmate/=lib/solmate/"],
      outputSelection: { "src/Permit2.sol": { Permit2: OUTPUT["*"]["*"] } },
    },
  };
}

function cached(name: string, input: SolcInput, compile: () => Record<string, Artifact>) {
  const key = createHash("sha256").update(JSON.stringify(input)).digest("hex").slice(0, 16);
  const file = join(CACHE, `${name}-${key}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Record<string, Artifact>;
  const made = compile();
  mkdirSync(CACHE, { recursive: true });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(made));
  renameSync(partial, file);
  return made;
}

const pick = (contracts: SolcOutput["contracts"], only: (file: string) => boolean) =>
  Object.fromEntries(
    Object.entries(contracts)
      .filter(([file]) => only(file))
      .flatMap(([, found]) => Object.entries(found))
      .map(([name, { abi, evm }]) => [
        name,
        { abi, bytecode: `0x${evm.bytecode.object}` as const },
      ]),
  );

/** Compiles what is not compiled yet; the first time takes about ten seconds, later ones read the cache. */
export function compileContracts(): Artifacts {
  const own = ownInput();
  const permit2 = permit2Input();
  return {
    ...cached("own", own, () =>
      pick(compileWith(require("solc") as Solc, own), (file) => file in own.sources),
    ),
    ...cached("permit2", permit2, () =>
      pick(
        compileWith(require("solc-permit2") as Solc, permit2),
        (file) => file === "src/Permit2.sol",
      ),
    ),
  } as Artifacts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) compileContracts();
