import type { EventType } from "@pragma/contracts/events";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { buildConsumerName } from "@pragma/runtime/messaging/event-consumer";
import { loadServiceDefinition } from "../definitions.ts";

/** Who may send which event to the stream. */
const eventPublishers: Record<EventType, readonly ServiceName[]> = {
  "till.pushed": ["till-ingest"],
  "report.finalized": ["reporting"],
  "report.removed": ["reporting"],
  "orders.erased": ["reporting"],
  "order.call": ["order-live"],
  "order.paid": ["order-live"],
  "order.canceled": ["order-live"],
  "order.transferred": ["order-live"],
  "device.seen": ["order-live", "till-ingest"],
  "catalog.updated": ["catalog"],
  "endpoint.failing": ["webhooks"],
  "endpoint.disabled": ["webhooks"],
  "key.changed": ["accounts"],
  "location.updated": ["accounts"],
};

/** What a user of NATS may send to and listen on. */
interface NatsUser {
  name: string;
  publish: string[];
  subscribe: string[];
}

/** `till-ingest` logs in with the password in NATS_PASSWORD_TILL_INGEST. */
const passwordVariable = (user: string) => `NATS_PASSWORD_${user.toUpperCase().replaceAll("-", "_")}`;

const inboxSubjectOf = (user: string) => `_INBOX.${user}.>`;

async function serviceUser(name: ServiceName, namespace: string): Promise<NatsUser> {
  const stream = `${namespace}_events`;
  const publishedTypes = (Object.keys(eventPublishers) as EventType[]).filter((type) =>
    eventPublishers[type].includes(name),
  );
  const consumedTypes = ((await loadServiceDefinition(name)).subscriptions ?? []).map(({ type }) => type);
  const signals = [name, `${name}-outbox`].map((topic) => `${namespace}-signals.${topic}.*`);
  return {
    name,
    publish: [
      ...publishedTypes.map((type) => `${namespace}.${type}.*`),
      ...signals,
      `$JS.API.STREAM.INFO.${stream}`,
      ...consumedTypes.flatMap((type) =>
        consumerSubjects(buildConsumerName(name, type), { stream, filter: `${namespace}.${type}.>` }),
      ),
    ],
    subscribe: [inboxSubjectOf(name), ...signals],
  };
}

/** What a service needs to make and read its own consumer of one type of event: of no other, the filter is part of it. */
function consumerSubjects(durable: string, { stream, filter }: { stream: string; filter: string }): string[] {
  return [
    `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
    `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${filter}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    `$JS.ACK.${stream}.${durable}.>`,
  ];
}

function gatewayUser(namespace: string): NatsUser {
  const subscribedSubjects = (["key.changed", "location.updated"] satisfies EventType[]).map(
    (type) => `${namespace}.${type}.>`,
  );
  return { name: "gateway", publish: [], subscribe: [inboxSubjectOf("gateway"), ...subscribedSubjects] };
}

function migrateUser(namespace: string): NatsUser {
  const requests = ["INFO", "CREATE", "UPDATE"];
  return {
    name: "migrate",
    publish: requests.map((request) => `$JS.API.STREAM.${request}.${namespace}_events`),
    subscribe: [inboxSubjectOf("migrate")],
  };
}

/** Every user of NATS: each service, the gateway, and the `migrate` command, with what it needs and nothing else. */
export async function listNatsUsers(namespace: string): Promise<NatsUser[]> {
  const ofServices = await Promise.all(serviceNames.map((name) => serviceUser(name, namespace)));
  return [...ofServices, gatewayUser(namespace), migrateUser(namespace)];
}

/** The users in the words of nats-server's configuration; passwords come from its environment. */
export async function renderNatsUsersConfig(namespace: string): Promise<string> {
  const users = (await listNatsUsers(namespace)).map(
    ({ name, publish, subscribe }) => `    {
      user: ${JSON.stringify(name)}, password: $${passwordVariable(name)}
      permissions: {
        publish: ${formatSubjects(publish)}
        subscribe: ${formatSubjects(subscribe)}
      }
    }`,
  );
  return `# Made by \`npm run access\` from what the services send and listen to. Who may do what on NATS; each password is in
# the environment of nats-server, and begins with a letter.
authorization {
  users: [
${users.join("\n")}
  ]
}
`;
}

/** An empty list would allow everything. */
function formatSubjects(subjects: string[]): string {
  if (subjects.length === 0) return `{ deny: [">"] }`;
  return `[\n${subjects.map((subject) => `          ${JSON.stringify(subject)}`).join("\n")}\n        ]`;
}
