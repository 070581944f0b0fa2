import { AppError } from "./app-error.ts";

/** The refusal of a key that was used for something else. */
export const keyReused = (): AppError =>
  new AppError(
    "idempotency_conflict",
    "This Idempotency-Key was used with another body: use a new key for a new request",
  );

/** The refusal of a repetition that came while the call it repeats was being worked on. */
export const stillRunning = (): AppError =>
  new AppError("idempotency_conflict", "The same request is still running: try again", {
    retryAfterS: 1,
  });
