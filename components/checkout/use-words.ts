"use client";
import { useMemo } from "react";
import { useLocale, useTranslations } from "use-intl";
import { type Words, wordsOf } from "./words.ts";

/** Reads the messages of the nearest `Messages`. */
export function useWords(): Words {
  const language = useLocale();
  const t = useTranslations();
  return useMemo(() => wordsOf(language, t as unknown as Words["t"]), [language, t]);
}
