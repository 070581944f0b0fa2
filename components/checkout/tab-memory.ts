/** What this tab remembers across reloads. Where the browser keeps nothing (a frame of another site), nothing is remembered. */
export const tabMemory = {
  read(key: string): string | null {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  },
  write(key: string, value: string): void {
    try {
      sessionStorage.setItem(key, value);
    } catch {
      // Nothing depends on it.
    }
  },
  forget(key: string): void {
    try {
      sessionStorage.removeItem(key);
    } catch {
      // It was never there.
    }
  },
};

/** Where the transfer that a wallet sent for a payment is remembered, until the server has it. */
export const sentKey = (paymentId: string): string => `florin:sent:${paymentId}`;
