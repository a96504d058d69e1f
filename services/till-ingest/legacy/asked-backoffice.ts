import { type Application, applicationSchema } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { refuseFaults } from "@pragma/runtime/faults";
import { z } from "zod";

export const applicationQuery = z.object({
  application: applicationSchema
    .optional()
    .meta({ description: "Whose legacy backoffice; that of the key's location when left out" }),
});

/**
 * The backoffice that a request is about, and the location whose tills a key may see there: its own, unless it may act
 * for any.
 *
 * @throws `ApiError` location_forbidden, invalid_request for a key without a location that names no application.
 */
export function askedBackoffice(
  { location, scopes }: Principal,
  asked: Application | undefined,
): { application: Application; legacyId: number | undefined } {
  const application = asked ?? location?.application;
  if (allows(scopes, "locations:any")) {
    if (application) return { application, legacyId: undefined };
    const message = "is required: this key belongs to no location, so name one";
    refuseFaults([{ in: "query", path: "application", code: "required", message }]);
  }
  if (!application || application !== location?.application) {
    throw new ApiError("location_forbidden", { detail: "application must be that of the API key's location." });
  }
  // No location of a legacy backoffice has this number.
  return { application, legacyId: location.legacyId ?? 0 };
}
