import { createHash, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { brotliCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ArchivedTable } from "./archived-tables.ts";
import {
  addToPart,
  type PartHashes,
  readVerifiedManifest,
  summarizeParts,
  verifyLocationArchive,
} from "./location-manifest.ts";
import { verifyArchiveContent } from "./verify-archived-rows.ts";

const locationId = randomUUID();
const otherLocationId = randomUUID();
const consumerId = randomUUID();
const tillId = randomUUID();

type Row = Record<string, unknown>;
type Line = [part: string, row: Row | string];

const body = Buffer.from(JSON.stringify({ id: tillId }));
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const bodyKey = `tills/${locationId}/${sha256(body).slice(0, 2)}/${sha256(body)}.br`;
const bodyLine: Line = [
  "objects",
  { key: bodyKey, hash: sha256(body), stored: brotliCompressSync(body).toString("base64") },
];
const object = { object_key: bodyKey, hash: sha256(body) };

const table = (part: string, columns: string, ...references: ArchivedTable["references"]): [string, ArchivedTable] => {
  const [service, name] = part.split(".") as [ArchivedTable["service"], string];
  const names = columns.split(" ").map((column) => column.replace("?", ""));
  const requiredColumns = columns.split(" ").filter((column) => !column.endsWith("?"));
  return [part, { service, name, columns: names, requiredColumns, references }];
};
const refersTo = (to: string, column: string) => ({ to, columns: [column], toColumns: ["id"] });

/** Tables like those of an installation, with the columns that the checks read. */
const tables = new Map([
  table("reporting.orders", "location_id id"),
  table("reporting.packed_tills", "location_id till_id object_key hash"),
  table("webhooks.messages", "id location_id"),
  table("webhooks.recipients", "id location_id encrypted_api_key?"),
  table("webhooks.webhooks", "id location_id recipient_id", refersTo("recipients", "recipient_id")),
  table(
    "webhooks.deliveries",
    "id webhook_id message_id",
    refersTo("webhooks", "webhook_id"),
    refersTo("messages", "message_id"),
  ),
  table("till-ingest.tills", "id location_id object_key hash"),
  table(
    "till-ingest.till_versions",
    "till_id location_id object_key hash body_removed_at?",
    refersTo("tills", "till_id"),
  ),
  table("accounts.locations", "id"),
  table("accounts.consumers", "id location_id?"),
  table("accounts.api_keys", "id consumer_id location_id?", refersTo("consumers", "consumer_id")),
]);

const till = { id: tillId, location_id: locationId, ...object };
const version = { till_id: tillId, location_id: null, ...object, body_removed_at: null };
const validLines: Line[] = [
  bodyLine,
  ["reporting.orders", { location_id: locationId, id: randomUUID() }],
  ["till-ingest.tills", till],
  ["till-ingest.till_versions", version],
  ["accounts.locations", { id: locationId }],
  ["accounts.consumers", { id: consumerId, location_id: null }],
  ["accounts.api_keys", { id: randomUUID(), consumer_id: consumerId, location_id: locationId }],
];

/** Verifies an archive with these lines, and a manifest that matches them. */
async function verify(lines: Line[], { missingObjects = [] as string[], manifest = {} } = {}) {
  const hashes: PartHashes = new Map();
  const archived = lines.map(([part, row]) => {
    const json = typeof row === "string" ? row : JSON.stringify(row);
    addToPart(hashes, part, json);
    return { part, json };
  });
  const valid = { locationId, startedAt: new Date().toISOString(), migrations: {}, missingObjects };
  const json = JSON.stringify({ ...valid, parts: summarizeParts(hashes), ...manifest });
  const read = () => Readable.from([...archived, { part: "manifest", json }]);
  return verifyArchiveContent({ lines: read(), manifest: await readVerifiedManifest(read()), tables });
}

/** Returns the valid lines with another row of a part. */
const withRow = (part: string, change: Row | string): Line[] =>
  validLines.map(([each, row]) => {
    if (each !== part) return [each, row];
    return [each, typeof change === "string" ? change : { ...(row as Row), ...change }];
  });
/** Returns the valid lines with a row before the first line of a part. */
const withLineBefore = (next: string, line: Line): Line[] => {
  const position = validLines.findIndex(([part]) => part === next);
  return validLines.toSpliced(position, 0, line);
};

describe("an archive", () => {
  it("is accepted with the rows and objects of its location", async () => {
    expect(await verify(validLines)).toEqual({
      consumerRows: [JSON.stringify({ id: consumerId, location_id: null })],
    });
  });

  it("is refused with a row of another location, or without a location", async () => {
    for (const [part, id] of [
      ["reporting.orders", otherLocationId],
      ["till-ingest.tills", otherLocationId],
      ["till-ingest.tills", locationId.toUpperCase()],
      ["till-ingest.till_versions", otherLocationId],
      ["accounts.consumers", otherLocationId],
      ["accounts.api_keys", otherLocationId],
    ] as const)
      await expect(verify(withRow(part, { location_id: id })), part).rejects.toThrow(
        `A row of ${part} in the archive does not belong to the location ${locationId} (${id}).`,
      );
    await expect(verify(withRow("accounts.api_keys", { location_id: null }))).rejects.toThrow(/\(no location\)/);
    await expect(verify(withRow("reporting.orders", { location_id: null }))).rejects.toThrow(/lacks location_id/);
  });

  it("is refused unless it has exactly one location, which is that of its manifest", async () => {
    await expect(verify(withRow("accounts.locations", { id: otherLocationId }))).rejects.toThrow(/does not belong/);
    await expect(
      verify(withLineBefore("accounts.consumers", ["accounts.locations", { id: locationId }])),
    ).rejects.toThrow(/several rows of accounts\.locations/);
    await expect(verify(validLines.filter(([part]) => part !== "accounts.locations"))).rejects.toThrow(
      /no row of accounts\.locations/,
    );
  });

  it("is refused with a row that refers to a row that the archive lacks", async () => {
    await expect(verify(withRow("accounts.api_keys", { consumer_id: randomUUID() }))).rejects.toThrow(
      /accounts\.api_keys in the archive refers to a row of accounts\.consumers/,
    );
    const [webhookId, recipientId, messageId] = [randomUUID(), randomUUID(), randomUUID()];
    const recipient: Line = [
      "webhooks.recipients",
      { id: recipientId, location_id: locationId, encrypted_api_key: null },
    ];
    const webhook: Line = ["webhooks.webhooks", { id: webhookId, location_id: locationId, recipient_id: recipientId }];
    const message: Line = ["webhooks.messages", { id: messageId, location_id: locationId }];
    const delivery: Line = ["webhooks.deliveries", { id: randomUUID(), webhook_id: webhookId, message_id: messageId }];
    const withWebhook = (...lines: Line[]) => verify(validLines.toSpliced(2, 0, ...lines));
    await withWebhook(message, recipient, webhook, delivery);
    await expect(withWebhook(message, recipient, delivery)).rejects.toThrow(/refers to a row of webhooks\.webhooks/);
    await expect(withWebhook(recipient, webhook, delivery)).rejects.toThrow(/refers to a row of webhooks\.messages/);
    const secretObject: Line = ["webhooks.recipients", { ...(recipient[1] as Row), encrypted_api_key: { a: 1 } }];
    await expect(withWebhook(secretObject)).rejects.toThrow(/no text in encrypted_api_key/);
  });

  it("is refused with a consumer that no key uses, unless the location has created it", async () => {
    const consumer = (id: string | null): Line => ["accounts.consumers", { id: randomUUID(), location_id: id }];
    await verify(withLineBefore("accounts.api_keys", consumer(locationId)));
    await expect(verify(withLineBefore("accounts.api_keys", consumer(null)))).rejects.toThrow(
      /1 consumers of operators that none of its keys uses/,
    );
  });

  it("is refused with the object of another location", async () => {
    const foreignKey = `tills/${otherLocationId}/ab/${sha256(body)}.br`;
    for (const objectKey of [foreignKey, `tills/${locationId}/../${otherLocationId}/a`, `packed/${locationId}/a`, null])
      for (const part of ["till-ingest.tills", "till-ingest.till_versions"])
        await expect(verify(withRow(part, { object_key: objectKey })), part).rejects.toThrow(
          /names an object that is not the location's|lacks object_key/,
        );
    const packed: Line = [
      "reporting.packed_tills",
      { location_id: locationId, till_id: tillId, object_key: `packed/${otherLocationId}/a`, hash: "" },
    ];
    await expect(verify(withLineBefore("till-ingest.tills", packed))).rejects.toThrow(/not the location's/);
    await expect(verify(withRow("objects", { key: foreignKey }))).rejects.toThrow(/not the location's/);
    await expect(verify(validLines, { missingObjects: [foreignKey] })).rejects.toThrow(/not the location's/);
    const removed = { object_key: foreignKey, body_removed_at: "2026-01-01T00:00:00Z" };
    await expect(verify(withRow("till-ingest.till_versions", removed))).rejects.toThrow(/not the location's/);
  });

  it("is refused with an object that is missing, changed, repeated, unused or too large", async () => {
    const stored = brotliCompressSync(Buffer.from("{}")).toString("base64");
    await expect(verify(withRow("objects", { stored }))).rejects.toThrow(/does not have its hash/);
    await expect(verify(withRow("objects", { stored: "" }))).rejects.toThrow(/does not have its hash/);
    await expect(verify(validLines.slice(1))).rejects.toThrow(/lacks the object/);
    await expect(verify([bodyLine, ...validLines])).rejects.toThrow(/in it twice/);
    await expect(verify(withRow("till-ingest.tills", { hash: sha256(Buffer.from("")) }))).rejects.toThrow(
      /another hash/,
    );
    const unusedKey = `packed/${locationId}/unused`;
    const unused: Line = ["objects", { key: unusedKey, hash: sha256(body), stored: body.toString("base64") }];
    await expect(verify([unused, ...validLines])).rejects.toThrow(/1 objects to which none of its rows refers/);
    await expect(verify(validLines, { missingObjects: [unusedKey] })).rejects.toThrow(/to which none/);
    const large = Buffer.alloc(101 * 1024 * 1024);
    const bomb = { hash: sha256(large), stored: brotliCompressSync(large).toString("base64") };
    await expect(verify(withRow("objects", bomb))).rejects.toThrow(/too large/);
  });

  it("is accepted without objects that its manifest states as missing", async () => {
    await verify(validLines.slice(1), { missingObjects: [bodyKey] });
    await expect(verify(validLines, { missingObjects: [bodyKey] })).rejects.toThrow(/not valid/);
  });

  it("is refused with other parts, or parts in another sequence", async () => {
    const unused = { location_id: locationId, object_key: bodyKey, delete_after: "2020-01-01T00:00:00Z" };
    for (const part of [
      "reporting.unused_objects",
      "reporting.outbox",
      "till-ingest.pending_uploads",
      "unknown",
      "\u001b[2J",
    ])
      await expect(verify(withLineBefore("till-ingest.tills", [part, unused])), part).rejects.toThrow(
        `a part that no archive contains: ${part.replace("\u001b", " ")}`,
      );
    const order: Line = ["reporting.orders", { location_id: locationId, id: randomUUID() }];
    await expect(verify([...validLines, order])).rejects.toThrow(/not in the sequence of its parts/);
    await expect(verify([...validLines.toSpliced(1, 1), order])).rejects.toThrow(/not in its place/);
  });

  it("is refused with a line that is no row of its table", async () => {
    for (const line of ["", "{", "[]", "null", "1", '"text"'])
      await expect(verify(withRow("reporting.orders", line)), line).rejects.toThrow(
        /^A line of reporting\.orders in the archive is not (JSON|a JSON object)\.$/,
      );
    await expect(verify(withRow("reporting.orders", "{}"))).rejects.toThrow(/lacks location_id/);
    await expect(verify(withRow("reporting.orders", { position: 1 }))).rejects.toThrow(/unknown column: position/);
    await expect(verify(withRow("reporting.orders", { id: null }))).rejects.toThrow(/lacks id/);
    await expect(verify(withRow("objects", "[]"))).rejects.toThrow(/objects in the archive is not a JSON object/);
  });

  it("is refused with a manifest that is not valid", async () => {
    for (const id of ["none", locationId.toUpperCase()])
      await expect(verify(validLines, { manifest: { locationId: id } })).rejects.toThrow(
        /^The manifest of the archive is not valid: locationId\.$/,
      );
    await expect(verify(validLines, { manifest: { parts: 1, startedAt: null } })).rejects.toThrow(
      /^The manifest of the archive is not valid: startedAt, parts\.$/,
    );
  });

  it("is refused if its file is a folder or does not exist", async () => {
    const read = (path: string) =>
      verifyLocationArchive(path, { environment: { LOCATION_ARCHIVE_KEY: "k".repeat(32) }, log: () => {} });
    await expect(read(tmpdir())).rejects.toThrow(`${tmpdir()} is a folder, not an archive.`);
    await expect(read(join(tmpdir(), randomUUID()))).rejects.toThrow(/^The file .* does not exist\.$/);
  });
});
