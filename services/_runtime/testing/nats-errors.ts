import { connect, type NatsConnection } from "@nats-io/transport-node";

/** Runs actions with the credentials in a NATS URL. Returns the error messages that the server sends. */
export async function collectErrorsOfNatsActions(url: string, act: (nats: NatsConnection) => void): Promise<string[]> {
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
  // Waits, because the server sends errors about publications asynchronously.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await nats.close();
  await listening;
  return messages;
}
