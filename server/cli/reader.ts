/** What a shell reports of a program whose reader went away. */
const NOBODY_READS = 141;

/** Ends the process without a word when nobody reads its output any more, as after `| head`. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(NOBODY_READS);
    throw error;
  });
}
