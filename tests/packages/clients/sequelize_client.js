// Sequelize connects, creates its tables, and works with them, a stream and its view.
'use strict';
const assert = require('node:assert');
const { Sequelize, DataTypes, Op, fn, col } = require('sequelize');

const options = { host: '127.0.0.1', port: Number(process.argv[2]), dialect: 'postgres', logging: false };
const db = new Sequelize('antumbra', 'antumbra', 'none', options);

async function main() {
  await db.authenticate();
  const City = db.define('City', {
    name: { type: DataTypes.STRING, unique: true, allowNull: false },
    price: DataTypes.DECIMAL(10, 2),
    data: DataTypes.JSONB,
    tags: DataTypes.ARRAY(DataTypes.TEXT),
    number: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
  }, { tableName: 'city', indexes: [{ fields: ['price'] }, { fields: ['data'], using: 'gin' }] });
  const Visit = db.define('Visit', { n: DataTypes.INTEGER }, { tableName: 'visit' });
  Visit.belongsTo(City);
  City.hasMany(Visit);
  await db.sync({ force: true });
  await City.create({ name: 'x', price: '1.50', data: { a: 1 }, tags: ['p', 'q'] });
  assert.equal((await City.bulkCreate([{ name: 'y' }, { name: 'z' }], { returning: true })).length, 2);
  assert.equal((await City.upsert({ name: 'x', price: '2.5' }))[0].price, '2.50');
  await City.bulkCreate([{ name: 'y' }, { name: 'q' }], { ignoreDuplicates: true });
  assert.equal(await City.count(), 4);
  const where = { name: { [Op.iLike]: '%X%' }, tags: { [Op.contains]: ['p'] }, 'data.a': 1 };
  assert.deepEqual((await City.findAll({ where, include: Visit, limit: 2 })).map((city) => city.name), ['x']);
  await db.transaction(async (transaction) => {
    const city = await City.findOne({ where: { name: 'x' }, transaction, lock: true, skipLocked: true });
    await Visit.create({ n: 1, CityId: city.id }, { transaction });
  });
  const attributes = [[fn('date_trunc', 'month', col('createdAt')), 'm'], [fn('count', col('*')), 'n']];
  assert.equal((await City.findAll({ attributes, group: ['m'], raw: true })).length, 1);
  await City.increment('price', { by: 2, where: { name: 'x' } });
  assert.equal(await City.destroy({ where: { name: 'q' } }), 1);
  await db.sync({ alter: true });
  const changes = db.getQueryInterface();
  assert.ok((await changes.describeTable('city')).id.primaryKey);
  assert.ok((await changes.showIndex('city')).some((index) => index.name === 'city_price'));
  await changes.addColumn('city', 'extra', { type: DataTypes.INTEGER, defaultValue: 5 });
  await changes.changeColumn('city', 'extra', { type: DataTypes.BIGINT, allowNull: false });
  await changes.removeColumn('city', 'extra');

  await db.query('CREATE FOREIGN TABLE trips (city int, fare numeric(10,2)) SERVER stream');
  await db.query('CREATE VIEW fares AS SELECT city, count(*) AS n, sum(fare) AS total FROM trips GROUP BY city');
  const columns = { city: { type: DataTypes.INTEGER, primaryKey: true }, fare: DataTypes.DECIMAL(10, 2) };
  const Trip = db.define('Trip', columns, { tableName: 'trips', timestamps: false });
  await Trip.create({ city: 1, fare: 2 });
  await Trip.bulkCreate([{ city: 1, fare: 3 }, { city: 2, fare: 4 }], { ignoreDuplicates: true });
  const [rows] = await db.query('SELECT * FROM fares ORDER BY city');
  assert.deepEqual(rows, [{ city: 1, n: '2', total: '5.00' }, { city: 2, n: '1', total: '4.00' }]);
  await db.query('DROP FOREIGN TABLE trips CASCADE');
  await db.query('DROP TABLE visit, city');
  await db.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
