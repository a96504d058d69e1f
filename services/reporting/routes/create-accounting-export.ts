import { CreateAccountingExport, maxExportedTills, StartedAccountingExport } from "@pragma/contracts/accounting-export";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { formatsDescribed } from "../accounting/described.ts";
import { requestExport } from "../accounting/request-export.ts";
import { defineRoute } from "../reporting.ts";

export const createAccountingExport = defineRoute({
  method: "post",
  path: "/v1/accounting/exports/",
  operationId: "createAccountingExport",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "Export tills to accounting software",
  description:
    `Has journal entries made from the reports of 1 to ${maxExportedTills} tills, and files of them that accounting software imports. Tills of the same location, config and provider come into one file, in the order in which they were closed. ` +
    "The export is made beside everything else: ask for it by its id until its state is done or failed. " +
    "A till whose figures contradict each other is left out, and the export says by how much they do; the others are in their files all the same. " +
    `A location other than the key's needs a key that may act for any.\n\n${formatsDescribed}`,
  request: { body: jsonBody(CreateAccountingExport) },
  responses: { 202: { description: "The export will be made", schema: StartedAccountingExport } },
  errors: ["location_forbidden"],
  async handle({ body, principal, services, context }) {
    const started = await requestExport(services, { body, principal, context });
    context.addToLog({ exportId: started.id, tills: started.tillsIds.length });
    return json(202, started, { location: `/v1/accounting/exports/${started.id}` });
  },
});
