import { say } from "../deploy/local/terminal.mjs";

let isSilent = false;

/** Says what a person should know, such as that a server ended by itself. */
export function complain(line: string): void {
  if (!isSilent) say(line);
}

/** From now on servers end because they are told to. */
export function fallSilent(): void {
  isSilent = true;
}
