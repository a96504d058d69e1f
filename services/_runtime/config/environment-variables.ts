export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
