/** Text from outside without control characters, so that nobody draws on the user's terminal. */
export const plain = (text: string): string => text.replace(/\p{C}/gu, "");
