/** The URL of the console in the built files. The server of the site replaces it with that of the installation, or removes it. */
const servedConsoleUrl = "https://console.pragma.example";

/** The URL of the console of this installation; undefined if it has none. Known only in the browser, not to the build. */
export const consoleUrl: string | undefined = URL.canParse(servedConsoleUrl) ? servedConsoleUrl : undefined;
