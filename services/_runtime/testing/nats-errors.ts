import { connect, type NatsConnection } from "@nats-io/transport-node";

/** Returns the error messages of a NATS server to actions with the credentials of a URL. */
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
  // The server rejects a publication asynchronously.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await nats.close();
  await listening;
  return messages;
}
