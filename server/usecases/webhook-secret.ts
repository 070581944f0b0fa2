import { randomBytes } from "node:crypto";
import { signingSecret } from "#server/domain/webhook/signature.ts";
import { seal, unseal } from "#server/platform/seal.ts";
import type { Services } from "#server/ports/services.ts";

const PURPOSE = "webhook";
const SECRET_BYTES = 32;

/** Where the secrets of an endpoint belong: moved elsewhere they do not open. */
const placeOf = (endpointId: string): string => `webhook_endpoint:${endpointId}`;

/** A new signing secret for an endpoint, sealed. */
export const newSealedSecret = ({ env }: Services, endpointId: string): Uint8Array =>
  seal(
    env.FLORIN_DATA_SECRET,
    PURPOSE,
    placeOf(endpointId),
    signingSecret(randomBytes(SECRET_BYTES)),
  );

/** The signing secret of an endpoint in clear, as `whsec_…`. */
export const openSecret = ({ env }: Services, endpointId: string, sealed: Uint8Array): string =>
  unseal(env.FLORIN_DATA_SECRET, PURPOSE, placeOf(endpointId), sealed);
