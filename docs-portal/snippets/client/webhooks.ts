import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { isWebhookMessageOfEvent, verifyWebhook, WebhookVerificationError } from "@pragma/client";

const secret = process.env.PRAGMA_WEBHOOK_SECRET ?? "";

const server = createServer(async (request, response) => {
  try {
    const body = await text(request);
    const { headers } = request;
    const message = await verifyWebhook({ headers, body }, { secret });
    if (isWebhookMessageOfEvent(message, "report.finalized")) {
      console.log(message.data.reportId);
    }
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
});
server.listen(Number(process.env.PORT ?? 3001));
