import { ApiError } from "@pragma/contracts/errors";

/** The refusal of one more than a location may have of what the documentation's table of limits calls `name`. */
export function limitReached(name: "webhooks" | "recipients", maximum: number): ApiError {
  return new ApiError("limit_reached", {
    detail: `A location may have ${maximum} ${name}. Delete one that is not needed any more, then create this one.`,
    limit: { name, maximum, unit: `${name} of a location` },
  });
}
