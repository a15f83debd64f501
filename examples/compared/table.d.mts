export function count(source: string): { all: number; imports: number };
export function countApp(app: string, side: string): { files: number; all: number; imports: number };
export function mistakes(side: string): { name: string; isCaught: boolean }[];
export function written(text: string): string;
