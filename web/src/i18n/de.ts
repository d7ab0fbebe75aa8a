import type { Catalog } from '.';
import en from './en';

export default en as Catalog;
