import { z } from "zod";

// Without a flag, so that the documented pattern is whole.
const clientId = /^s?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** The uuid in an id that a client made: without its leading `s`, if it has one, in lower case. */
export function toUuid(id: string): string {
  return (id.length === 37 ? id.slice(1) : id).toLowerCase();
}

/**
 * An id that a client made: a uuid of any variant, or an `s` followed by one. It becomes the uuid alone, in lower case,
 * under which the thing is then known.
 */
export const ClientId = z
  .string()
  .regex(clientId, { error: "Must be a uuid, or an s followed by a uuid" })
  .overwrite(toUuid)
  .meta({ description: "A uuid, or an s followed by one", example: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" });
