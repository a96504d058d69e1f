import type { Msg, Subscription } from "@nats-io/transport-node";
import type { Logger } from "../observability/logger.ts";
import type { EventBusConnectionState } from "./nats-connection.ts";

export type SendBusRequest = (topic: string, text: string, options: { timeoutMs: number }) => Promise<string>;

export interface BusRequestHandler<Services> {
  /** The last part of the subject, such as `accounts.usage`. It begins with the name of the service. */
  topic: string;
  /** Returns the reply. If it throws, the sender gets no reply, and its request times out. */
  handle(services: Services, text: string): Promise<string>;
}

/** Does not begin with `<namespace>.` or `<namespace>-orders.`, because a stream would store these messages. */
export function buildRequestSubject(namespace: string, topic: string): string {
  return `${namespace}-requests.${topic}`;
}

export function createBusRequests({ namespace, connected, currentConnection }: EventBusConnectionState, log: Logger) {
  return {
    /**
     * Sends a request to one of the instances that answer the topic, and returns its reply.
     *
     * @throws `Error` when NATS is not connected, no instance answers the topic, or the reply does not arrive in time.
     * In the last case, the request may have been handled.
     */
    async request(topic: string, text: string, { timeoutMs }: { timeoutMs: number }): Promise<string> {
      const connection = currentConnection();
      if (!connection) throw new Error("not connected to NATS");
      const subject = buildRequestSubject(namespace, topic);
      return (await connection.nats.request(subject, text, { timeout: timeoutMs })).string();
    },
    /** One instance of the service gets each request. `stop` resolves when requests in progress are handled. */
    answerRequests(topic: string, handle: (text: string) => Promise<string>): { stop(): Promise<void> } {
      const subject = buildRequestSubject(namespace, topic);
      const handling = new Set<Promise<void>>();
      let subscription: Subscription | undefined;
      let isStopped = false;
      const callback = (error: Error | null, message: Msg) => {
        if (error) return;
        const answered = handle(message.string())
          .then((reply) => void message.respond(reply))
          .catch((cause) => log.error({ err: cause, topic }, "request over NATS failed"))
          .finally(() => handling.delete(answered));
        handling.add(answered);
      };
      connected
        .then(({ nats }) => {
          if (!isStopped) subscription = nats.subscribe(subject, { callback, queue: topic });
        })
        .catch(() => {});
      return {
        async stop() {
          isStopped = true;
          subscription?.unsubscribe();
          await Promise.all(handling);
        },
      };
    },
  };
}
