/** The URLs of the installation whose API the console reads. */
export interface Installation {
  /** The origin of the API, such as `https://api.example.com`. */
  apiUrl: string;
  /** The URL of the documentation, without a slash at its end. */
  docsUrl: string;
  /** Whether readers may create sandboxes. */
  hasSandboxes: boolean;
}

/** Returns the URLs that the server of the console is configured with. @throws Error if the server does not send them. */
export async function loadInstallation(): Promise<Installation> {
  const response = await fetch("/config.json");
  if (!response.ok) throw new Error(`GET /config.json responded ${response.status}`);
  return (await response.json()) as Installation;
}
