import { ApiError } from "@pragma/contracts/errors";

const mebibyte = 1024 * 1024;

/** How many bytes of bodies this process holds in memory at once, over all requests. */
const limit = 256 * mebibyte;
let held = 0;

/** What one request takes of the process's memory for bodies; given back when the request is done. */
export interface Allowance {
  /** @throws `ApiError` overloaded when the process holds too much already. */
  take(bytes: number): void;
  giveBack(): void;
}

export function openAllowance(): Allowance {
  let taken = 0;
  return {
    take(bytes) {
      if (held + bytes > limit) {
        throw new ApiError("overloaded", {
          detail: "More bodies are being received than this server holds at once. Try again in a moment.",
          headers: { "retry-after": "2" },
        });
      }
      held += bytes;
      taken += bytes;
    },
    giveBack() {
      held -= taken;
      taken = 0;
    },
  };
}
