import { edgeTill } from "./edge-till.ts";
import type { Stage } from "./stage.ts";

/** Requests that come twice, and tills that are pushed, replaced and reprocessed. */
export async function playAgain({ recorder }: Stage): Promise<void> {
  const { exchange, ask, tell } = recorder;
  const recipient = { method: "POST", path: "/v1/recipients/" } as const;
  const headers = { "idempotency-key": "recipient-of-may" };
  const body = {
    name: "Stock keeper",
    hmacSecret: "an example of a secret that has sixty-four characters or more.....",
  };
  await exchange("idempotent-first", { ...recipient, headers, body });
  await exchange("idempotent-again", { ...recipient, headers, body });
  await exchange("idempotent-reused", { ...recipient, headers, body: { ...body, name: "Somebody else" } });

  const { body: same, response } = await ask({ method: "POST", path: "/v2/tills/", body: edgeTill });
  tell("till-pushed-again", { reply: { status: response.status, headers: {}, body: same } });
  const { body: conflict } = await ask({ method: "POST", path: "/v2/tills/", body: { ...edgeTill, note: "changed" } });
  tell("till-conflict", { reply: { status: conflict.status, headers: {}, body: conflict } });
  const replaced = await ask({
    method: "PUT",
    path: `/v1/tills/${edgeTill.id}`,
    body: { ...edgeTill, note: "changed" },
  });
  tell("till-replaced", { reply: { status: replaced.response.status, headers: {}, body: replaced.body } });
  await exchange("till-reprocessed", { method: "POST", path: `/v1/tills/${edgeTill.id}/reprocess` });
}
