/** Queue of payments whose accepted authorization waits to be submitted; data is `{ paymentId }`. */
export const SUBMIT_CAPTURE = "submit-capture";
