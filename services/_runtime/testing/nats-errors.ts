import { connect, type NatsConnection } from "@nats-io/transport-node";

/** What a NATS server refuses of what is done as the user of a URL, in its words. */
export async function collectNatsErrors(url: string, act: (nats: NatsConnection) => void): Promise<string[]> {
  const { host, username, password } = new URL(url);
  const nats = await connect({ servers: host, user: username, pass: password, inboxPrefix: `_INBOX.${username}` });
  const messages: string[] = [];
  const listening = (async () => {
    for await (const status of nats.status()) {
      if (status.type === "error") messages.push(status.error.message);
    }
  })();
  act(nats);
  await nats.flush();
  // Its refusal of a publication comes when it pleases.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await nats.close();
  await listening;
  return messages;
}
