export function Domains() { return null; }
