import { UpsertWebhook } from "@pragma/contracts/webhook";
import { type BodyReader, jsonBody } from "@pragma/runtime/define-route";
import { faultOfEndpoint } from "../endpoint/check-endpoint.ts";
import type { Webhooks } from "../webhooks.ts";

const asJson = jsonBody(UpsertWebhook);

/** The body of a webhook whose endpoint is one that may be sent to. */
export const webhookBody: BodyReader<UpsertWebhook, Webhooks> = {
  ...asJson,
  async read(bytes, services, sender) {
    const read = await asJson.read(bytes, services, sender);
    if ("faults" in read) return read;
    const fault = await faultOfEndpoint(read.value.endpointUrl, services.endpoints);
    return fault ? { faults: [{ in: "body", path: "endpointUrl", ...fault }], count: 1 } : read;
  },
};
