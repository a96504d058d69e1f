import { printLine } from "../deploy/local/terminal.mjs";

let isErrorReportingSilenced = false;

/** Prints an error of a server process, such as an unexpected exit. */
export function printBenchServerError(line: string): void {
  if (!isErrorReportingSilenced) printLine(line);
}

/** Stops the printing of errors. Called after an interrupt, because stopping the servers then causes errors. */
export function silenceBenchErrorPrinting(): void {
  isErrorReportingSilenced = true;
}
