import { urlVariable, wanted } from "./binaries.mjs";
import { Failure } from "./failure.mjs";
import { hearFrom } from "./probe.mjs";

/** @typedef {import("./binaries.mjs").ServerKind} ServerKind */

/** What each server says first to a client, and the port it is on unless its URL names one. */
const manners = {
  // SSLRequest: the server answers with one letter, whether it speaks TLS.
  postgres: { port: 5432, greeting: Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]), until: /^[SN]/ },
  nats: { port: 4222, greeting: undefined, until: /^INFO \{[^\n]*"jetstream":\s*true/ },
  redis: { port: 6379, greeting: "PING\r\n", until: /^(\+PONG|-NOAUTH|-LOADING)/ },
};

/**
 * The server of this kind that the environment names, run by somebody else: it is neither started nor stopped here.
 * @param {ServerKind} kind
 * @returns {Promise<string | undefined>} its URL; undefined when the environment names none
 * @throws {Failure} when it does not answer
 */
export async function givenServer(kind) {
  const variable = urlVariable[kind];
  const given = process.env[variable];
  if (given === undefined || given === "") return undefined;
  const answers = await Promise.all(given.split(",").map((url) => answersAt(kind, url.trim(), variable)));
  if (answers.includes(true)) return given;
  const needs = kind === "nats" ? " (with JetStream)" : "";
  throw new Failure(
    `${wanted[kind].name}${needs} does not answer at the address in ${variable}. Start it, or unset ${variable}.`,
  );
}

/**
 * @param {ServerKind} kind
 * @param {string} text
 * @param {string} variable
 * @returns {Promise<boolean>}
 */
async function answersAt(kind, text, variable) {
  const address = text.includes("://") ? text : `${kind}://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === "") throw new Failure(`${variable} is not a URL with a host.`);
  const { port, greeting, until } = manners[kind];
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A server that wants TLS from the first byte says nothing to a plain greeting: that it listens must do.
  const expected = url.protocol === "rediss:" ? /^/ : until;
  return (
    (await hearFrom({ host, port: Number(url.port) || port, greeting, until: expected, withinMs: 5_000 })) !== undefined
  );
}
