import { printLine } from "../deploy/local/terminal.mjs";

let isErrorReportingSilenced = false;

/** Prints an error of a server process, such as an unexpected exit. */
export function printBenchServerError(line: string): void {
  if (!isErrorReportingSilenced) printLine(line);
}

/** Stops the printing of errors. Called before all servers are shut down, because errors are expected then. */
export function silenceBenchErrorPrinting(): void {
  isErrorReportingSilenced = true;
}
