import { readableLocation } from "@pragma/runtime/own-location";
import { deleteRecipient } from "../delete-recipient.ts";
import { defineRoute } from "../webhooks.ts";
import { recipientParams } from "./params.ts";

export const deleteRecipientRoute = defineRoute({
  method: "delete",
  path: "/v1/recipients/{id}",
  operationId: "deleteRecipient",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Delete a recipient",
  description: "Deletes a recipient that has no webhooks, with its secrets.",
  request: { params: recipientParams },
  responses: { 204: { description: "The recipient is deleted" } },
  errors: ["recipient_not_found", "recipient_in_use"],
  async handle({ params, principal, services }) {
    await deleteRecipient(services, { id: params.id, locationId: readableLocation(principal) });
    return { status: 204, body: null, headers: {} };
  },
});
