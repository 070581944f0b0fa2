"use client";
import { useEffect, useRef } from "react";
import { CollectForm } from "#components/collect/collect-form.tsx";
import type { CollectField } from "#server/contract/collect.ts";

const field = (name: string, title: string, kind: CollectField["kind"]): CollectField => ({
  name,
  title,
  kind,
  maxLength: kind === "text" ? 200 : null,
});
const ASKED = {
  required: [
    field("fullName", "Full name", "text"),
    field("dob", "Date of birth", "date"),
    field("tosConfirmed", "I agree", "consent"),
  ],
  oneOf: [
    [
      field("pobCountry", "Country of birth", "country"),
      field("pobAddress", "Place of birth", "text"),
    ],
    [
      field("porCountry", "Country of residence", "country"),
      field("porAddress", "Place of residence", "text"),
    ],
  ],
  keptDays: 365,
};

/** The real form with answers that are right, or sent once with ones that are not. */
export function GalleryForm({ rejected, onSent }: { rejected: boolean; onSent: () => void }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (rejected) frame.current?.querySelector("form")?.requestSubmit();
  }, [rejected]);
  return (
    <div ref={frame}>
      <CollectForm
        asked={ASKED}
        known={{ fullName: "Ines Okafor", ...(rejected ? {} : { dob: "1990-04-12" }) }}
        today="2026-11-20"
        countries={[
          { code: "DE", name: "Deutschland" },
          { code: "ES", name: "España" },
        ]}
        onSubmit={async () => {
          onSent();
          return { kind: "rejected", issues: [] };
        }}
        onEnd={onSent}
      />
    </div>
  );
}
