export function migrate(dialect: string, url: string): Promise<void>;
