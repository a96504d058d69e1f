import type { DocumentationFixture } from "./documentation-fixture.ts";
import { edgeCaseTill } from "./edge-case-till.ts";

/** Records repeated requests, and tills that are pushed again, replaced and reprocessed. */
export async function recordRepeatedRequests({ recorder }: DocumentationFixture): Promise<void> {
  const { recordExchange, sendRequest, recordExample } = recorder;
  const recipient = { method: "POST", path: "/v1/recipients/" } as const;
  const headers = { "idempotency-key": "recipient-of-may" };
  const body = {
    name: "Stock keeper",
    hmacSecret: "an example of a secret that has sixty-four characters or more.....",
  };
  await recordExchange("idempotent-first", { ...recipient, headers, body });
  await recordExchange("idempotent-again", { ...recipient, headers, body });
  await recordExchange("idempotent-reused", { ...recipient, headers, body: { ...body, name: "Somebody else" } });

  const { body: repeated, response } = await sendRequest({ method: "POST", path: "/v2/tills/", body: edgeCaseTill });
  recordExample("till-pushed-again", { reply: { status: response.status, headers: {}, body: repeated } });
  const { body: conflict } = await sendRequest({
    method: "POST",
    path: "/v2/tills/",
    body: { ...edgeCaseTill, note: "changed" },
  });
  recordExample("till-conflict", { reply: { status: conflict.status, headers: {}, body: conflict } });
  const replaced = await sendRequest({
    method: "PUT",
    path: `/v1/tills/${edgeCaseTill.id}`,
    body: { ...edgeCaseTill, note: "changed" },
  });
  recordExample("till-replaced", { reply: { status: replaced.response.status, headers: {}, body: replaced.body } });
  await recordExchange("till-reprocessed", { method: "POST", path: `/v1/tills/${edgeCaseTill.id}/reprocess` });
}
