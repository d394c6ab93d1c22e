/** Contains all tables of docshelf (contract, section 10). */
export const SCHEMA_NAME = 'docshelf';
