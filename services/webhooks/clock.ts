/** Tells the time. Whatever is planned or judged by time goes by it, so that tests need not wait. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
