import { ApiError } from "@pragma/contracts/errors";
import { lockRecipient } from "../queries/recipients.ts";
import { defineRoute } from "../webhooks.ts";
import { readable, recipientParams } from "./params.ts";

export const deleteRecipientRoute = defineRoute({
  method: "delete",
  path: "/v1/recipients/{id}",
  operationId: "deleteRecipient",
  summary: "Delete a recipient",
  description: "Deletes a recipient that has no webhooks, with its secrets.",
  request: { params: recipientParams },
  responses: { 204: { description: "The recipient is deleted" } },
  errors: ["recipient_not_found", "recipient_in_use"],
  async handle({ params, principal, services: { db } }) {
    const which = readable(params, principal);
    await db.transaction(async (tx) => {
      if (!(await lockRecipient(tx, which))) throw new ApiError("recipient_not_found");
      const deleted = await tx`
        delete from recipients r where id = ${which.id} and not exists (select from webhooks where recipient_id = r.id)`;
      if (deleted.count === 1) return;
      throw new ApiError("recipient_in_use", {
        detail: "Delete its webhooks first. Those with a long log take a while to be gone after they are deleted.",
      });
    });
    return { status: 204, body: null, headers: {} };
  },
});
