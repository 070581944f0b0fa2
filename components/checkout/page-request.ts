import { headers } from "next/headers";
import { chooseLanguage } from "#components/messages/languages.ts";
import type { PageRequest } from "./shell.tsx";

/** Reads the language and the nonce of the request that is being answered. */
export async function pageRequest(
  path: string,
  search: PageRequest["search"],
): Promise<PageRequest> {
  const sent = await headers();
  return {
    language: chooseLanguage(search.lang, sent.get("accept-language")),
    nonce: sent.get("x-nonce") ?? undefined,
    path,
    search,
  };
}
