import { ApiError } from "@pragma/contracts/errors";

/** How many of something a location may have. */
export interface LocationLimit {
  /** Its name in the documentation's table of limits. */
  name: "webhooks" | "recipients";
  maximum: number;
}

/** The refusal of one more than a location may have. */
export function limitReached({ name, maximum }: LocationLimit): ApiError {
  return new ApiError("limit_reached", {
    detail: `A location may have ${maximum} ${name}. Delete one that is not needed any more, then create this one.`,
    limit: { name, maximum, unit: `${name} of a location` },
  });
}
