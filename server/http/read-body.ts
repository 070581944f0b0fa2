import { parse } from "secure-json-parse";
import { AppError } from "#server/platform/app-error.ts";
import { isDeeperThan, MAX_DEPTH } from "./json-depth.ts";
import { repeatsMember } from "./json-members.ts";

const CONTENT_TYPE = /^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$/i;
const DIGITS = /^[0-9]{1,15}$/;

const tooLarge = (limit: number) =>
  new AppError("invalid_params", `The body must be at most ${limit} bytes`, { status: 413 });

/** Reads a body whose length was not announced, and stops at the limit. */
async function readStream(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body === null) return new Uint8Array();
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body's bytes; one announced as too large is not read at all. */
async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (announced === null || !DIGITS.test(announced)) return readStream(request, limit);
  if (Number(announced) > limit) throw tooLarge(limit);
  return new Uint8Array(await request.arrayBuffer());
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError("invalid_params", "The body must be UTF-8", { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return parse(text, { protoAction: "error", constructorAction: "error" });
  } catch (error) {
    throw new AppError("invalid_params", "The body must be JSON", { cause: error });
  }
}

/** The parsed JSON body of a request of at most `limit` bytes. */
export async function readBody(request: Request, limit: number): Promise<unknown> {
  const { headers } = request;
  if (!CONTENT_TYPE.test(headers.get("content-type") ?? ""))
    throw new AppError("invalid_params", "Send the body as Content-Type: application/json", {
      status: 415,
    });
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity")
    throw new AppError("invalid_params", "The body must not be compressed", { status: 415 });
  const text = decodeText(await readBytes(request, limit));
  if (isDeeperThan(text, MAX_DEPTH))
    throw new AppError("invalid_params", `The body must not nest deeper than ${MAX_DEPTH} levels`);
  const body = parseJson(text);
  if (repeatsMember(text))
    throw new AppError("invalid_params", "The body must not name a member twice");
  return body;
}
