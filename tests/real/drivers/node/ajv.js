'use strict';
// ajv: a schema built for each form and compiled by the instance of the process. The control drops it with removeSchema.
const Ajv = require('ajv');
const { Beside, random } = require('./beside');

const beside = new Beside();
const ajv = new Ajv();
let drops = false;

function validateForm(columns) {
  const properties = {};
  for (const column of columns) properties[column] = { type: 'string', maxLength: 50 };
  const schema = { type: 'object', properties };
  const validate = ajv.compile(schema);
  const valid = validate({ [columns[0]]: 'x' });
  if (drops) ajv.removeSchema(schema);
  return valid;
}

module.exports = {
  prepare(control) { drops = control; },
  serve() {
    validateForm([`a${random(1e9)}`, `b${random(1e9)}`, `c${random(1e9)}`]);
    for (let i = 0; i < 20; i++) beside.request();
  },
};
