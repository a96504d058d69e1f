import { printLine } from "../deploy/local/terminal.mjs";

let isErrorReportingSilenced = false;

/** Says what a person should know, such as that a server ended by itself. */
export function reportError(line: string): void {
  if (!isErrorReportingSilenced) printLine(line);
}

/** From now on servers end because they are told to. */
export function silenceErrorReporting(): void {
  isErrorReportingSilenced = true;
}
