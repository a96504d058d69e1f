import { fileURLToPath } from "node:url";

/** The folder of the checkout, absolute, without a slash at its end. */
export const checkout = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Where a checkout keeps everything that `npm start` makes. */
export const stateFolder = `${checkout}/.pragma`;
